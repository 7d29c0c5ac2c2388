# Tries: to sleep forever while it is imported, once for each task.
# Worked: the record comes late: the limit must not be waited for in every task.
# worth: 0
# waits: 1
import time

time.sleep(1e6)
