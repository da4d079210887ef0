"""A case on two hosts: its clients here, its servers on a peer; how do both spend their time?

The peer runs an agent (`homenode measure agent`), started over the user's own ssh, or beforehand
with a token. It is asked by name for a case of an adapter that can serve, never for a command:
what is started, and with which words, its own adapters decide. Messages are lines of JSON, one
answer a request, the same over both ways (`messages`). Whatever ends the connection ends all that
the agent started.

`serving` and `agent` are the peer's side, `transport`, `peer` and `paired` the client's; `clock`
says how far the two clocks are apart, `bench` what each side counts, `token` who may ask.
"""
