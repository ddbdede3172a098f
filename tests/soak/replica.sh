#!/bin/sh
# A replica of a soak job: does what is written in script.POD, one line an attempt, the last one again and again:
# SECONDS CODE. Writes down that it began (began.POD) and how it ends (ended.POD) before it does; an attempt that
# somebody else ended is not over, and begins again. Who finds another of the same name alive says so.
# Usage: replica.sh FOLDER [stubborn] [litters]; POD and POD_UID are in the environment.
cd "$1" || exit 99
exec 9>>"../alive/$POD"
flock -n 9 || echo "$(date +%T.%N) $POD ($POD_UID) began while another of that name lived" >>../doubled
number=0
[ ! -e "ended.$POD" ] || number=$(wc -l <"ended.$POD")
echo "$POD_UID $number" >>"began.$POD"
line=$(sed -n "$((number + 1))p" "script.$POD")
[ -n "$line" ] || line=$(sed -n '$p' "script.$POD")
echo "attempt $number of $POD: $line"
case " $* " in *' stubborn '*) trap '' TERM ;; esac
case " $* " in *' litters '*) (setsid sh -c 'sleep 1000; sleep 1000' &) ;; esac
sleep "${line% *}"
code=${line#* }
while [ "$code" = stay ]; do
    sleep 1000
done
echo "$POD_UID $code" >>"ended.$POD"
echo "ends with $code"
[ "$code" != 137 ] || kill -KILL $$
exit "$code"
