"""Files of many formats to rows."""
