# Tries: to bring control characters, HTML and surrogates into the report by what it returns.
# Worked: an escape in a record or in a page, or a report that cannot be written.
# worth: 0
EVIL = "\x1b[2J\x9b31m\u202e\r\n\ud800<script>alert(1)</script></pre>=cmd|' /C calc'!A0"


def gradient(steps, values, rules):
    return {**{EVIL + str(k): EVIL for k in range(20)}, "x0": EVIL}


def average(rows):
    return [EVIL] * len(rows)
