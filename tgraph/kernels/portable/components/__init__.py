"""Components, orders and colourings in torch operators."""
