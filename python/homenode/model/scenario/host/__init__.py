"""What a scenario says of a server whose threads Linux or Xen dispatches: control groups, weights,
quotas, pins, and what KVM does for a guest.
"""
