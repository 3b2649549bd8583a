"""Small tools that every room of the house may use and that know none of the rooms."""
