"""What scenes are played with: machine.py starts `muster up` as somebody at some level of isolation, scene.py
is a namespace on it, record.py is what must be true of every pod, always."""
