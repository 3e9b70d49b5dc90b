"""The routes: one table, what each takes and answers, and the functions behind them."""
