#!/bin/sh
test_description='PyTorch: data parallel training by gloo, through muster run'
. "$(dirname "$0")/lib.sh"

debian

# A saved network, read by another process than the one that trained it.
cat >predict.py <<'END'
import sys, torch
net = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
net.load_state_dict(torch.load(sys.argv[1]))
print(*(net(torch.tensor([at])).item() > 0 for at in ([0.1, 0.2], [-0.3, 0.4], [0.9, 0.9], [-0.9, 0.7])))
END

for level in namespaces shared; do

test_expect_success "$level: master and workers train one network, and it is the same in all" '
	train $level pytorchjob-ddp &&
	for rank in 0 1 2; do says 1 "rank $rank of 3 is here$" || return 1; done &&
	says 3 "step 300: loss 0\.0[0-9]*," && is 1 "$(sed -n "s/.*step 300: //p" lines | sort -u | wc -l)"
'

test_expect_success "$level: the saved network predicts" '
	says 1 "saved /model/circle.pt: 9[5-9]\.[0-9]% right" &&
	is "True True False False" "$(python3 predict.py "$(saved circle.pt)")"
'

done

finish
