//! Bytes of a performance tool to tables, and back. Never touches the running system; knows no engine.
