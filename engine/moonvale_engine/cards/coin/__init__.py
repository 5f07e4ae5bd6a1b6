"""Card types of Silver Coin, one module each."""
