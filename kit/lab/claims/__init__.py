"""The papers' claims, what runs measured for them, and the ledger of both."""
