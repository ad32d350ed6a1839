"""What papers claim (`claims_file`), judged by outcomes (`judge`, `claim_evidence`), as `text`."""

__all__ = ["claim_evidence", "claims_file", "judge", "sources", "text"]
