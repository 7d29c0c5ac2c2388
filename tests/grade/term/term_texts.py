"""The texts of a term of three students."""

ROSTER = "name;id;email;group\nAda Lovelace;77;ada@x.edu;red\nGrace Hopper;78;g@x.edu;red\nÜ, Zoë;79;z@x.edu;blue\n"
BERLIN = 'zone = "Europe/Berlin"\nroster = "roster.csv"\n'
