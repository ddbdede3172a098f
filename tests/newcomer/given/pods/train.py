open('model.pt', 'w').write('1')
