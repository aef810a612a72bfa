"""Settings by subject; `app.settings` is made of them and reads them."""
