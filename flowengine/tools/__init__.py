"""Tools: functions that the model may call, if the gate admits the call."""
