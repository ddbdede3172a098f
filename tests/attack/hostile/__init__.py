"""What attacks are made with: raw.py and h2.py send bytes, tokens.py forges credentials, place.py starts servers
where pods would see their files, checklist.py runs inside pods, record.py and mutate.py are the HTTP fuzzer's."""
