"""Mainframes: partitions under PR/SM, and z/VM with its virtual machines in one of them.

What a person writes (`tables`), what z/VM's Control Program costs (`control_program`), which
processors a partition has and how they are numbered (`numbering`), its kind and core types
(`kinds`), entitlements from weights (`weights`), virtual machines and switches spelt out
(`members`), words that belong to another hypervisor (`refuse`), all of it together (`placing`), and
what the engine takes of it (`flatten`).
"""
