"""The papers' claims, what runs found for them, and the ledger of both."""
