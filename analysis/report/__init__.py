"""The report: one page that holds the runs of a store, question by question, and needs no network."""
