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

test_expect_success 'OnFailure: whoever is killed, all meet again and come to the end' '
	pick master-0 worker-0 worker-1 && submit namespaces "$(edited pytorchjob-ddp "s/\"300\"/\"1000\"/")" && aim ddp-$picked &&
	told "step 100:" && shoot && finish_job &&
	summary "^pytorchjob/ddp Succeeded" "^ *$picked  *Succeeded  *0  *[1-9]" && says 3 "step 1000: loss 0\.0" &&
	is "True True False False" "$(python3 predict.py "$(saved circle.pt)")"
'

test_expect_success 'Never: whoever is killed, the job has failed' '
	pick worker-0 worker-1 master-0 && submit namespaces "$(edited pytorchjob-ddp "s/\"300\"/\"40000\"/; s/OnFailure/Never/")" &&
	aim ddp-$picked && told "step 100:" && shoot && fails_in_the_end &&
	summary "^pytorchjob/ddp Failed" "^ *$picked  *Failed  *137"
'

test_expect_success 'torchrun: training goes on when a worker is killed, and with one more that joins' '
	pick 0 1 && submit namespaces "$(edited pytorchjob-torchrun "s/\"400\"/\"800\"/")" && aim torchrun-worker-$picked &&
	told "rank 0 of 2, from step 1$" && told "step 40: 2 of us" && shoot &&
	told "torchrun-worker-$picked: rank . of [23], from step [0-9]*1$" &&
	kubectl scale pytorchjob torchrun --replicas=3 && told "torchrun-worker-2: rank . of 3, from step [0-9]*1$" &&
	finish_job && summary "^pytorchjob/torchrun Succeeded" && says 1 "step 800: 3 of us, loss 0\.[01]" &&
	says 1 "saved /model/checkpoint.pt: 9[0-9]\.[0-9]% right"
'

finish
