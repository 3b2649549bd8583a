"""The paper's tables and figures, the audit of splits, the leaderboard: from built data and result files."""
