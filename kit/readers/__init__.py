"""From passages to an answer."""
