"""Adapters, one module a tool."""
