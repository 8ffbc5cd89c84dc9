"""Protocol documents as bytes and values: strict JSON, canonical bytes, schemas, signatures, keys.

Says whether one document is well formed and authentic. Never decides whether what it says may
happen: authority, epochs, leases and order belong to the Group Authority and the monitors.
"""
