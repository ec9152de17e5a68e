"""Li's dissertation, Tables 6 and 7: sampling users against sampling items."""
