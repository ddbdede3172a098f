// Random regular expressions and texts with what Go's regexp says of them, a JSON array each:
// [pattern, text, true|false|"error"]. To compare many by hand:
//
//	go run tests/unit/crd/patterns.go -n 300000 -seed 7 > /tmp/p/patterns.jsonl
//	build/tests/unit/crd/crd_test_pattern /tmp/p
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"regexp"
	"strings"
	"unicode/utf8"
)

var r *rand.Rand

func pick(from ...string) string { return from[r.Intn(len(from))] }

func rune1() string {
	return pick("a", "b", "c", "k", "s", "A", "K", "S", "0", "7", "_", "-", " ", "\n", "\t", "\v", "é", "É", "ß",
		"ſ", "K", "σ", "ς", "Σ", "я", "Я", "世", "😀", "\u0130", "ı", "Dž", ".", "x", "z")
}

func escape() string {
	return pick(`\d`, `\D`, `\s`, `\S`, `\w`, `\W`, `\t`, `\n`, `\v`, `\f`, `\a`, `\.`, `\-`, `\x41`, `\x{e9}`, `\07`, `\123`,
		`\pL`, `\PL`, `\p{Lu}`, `\p{^Lu}`, `\P{^Ll}`, `\p{Greek}`, `\p{Cyrillic}`, `\p{Han}`, `\pN`, `\p{Nd}`, `\pZ`, `\pP`, `\p{Any}`, `\pC`)
}

func class() string {
	s := "["
	if r.Intn(3) == 0 {
		s += "^"
	}
	for n := 1 + r.Intn(4); n > 0; n-- {
		switch r.Intn(6) {
		case 0:
			s += escape()
		case 1:
			s += pick("[:alpha:]", "[:^alpha:]", "[:digit:]", "[:space:]", "[:word:]", "[:punct:]", "[:^upper:]", "[:cntrl:]", "[:ascii:]", "[:xdigit:]")
		case 2:
			s += pick("a-c", "A-Z", "0-9", "k-s", "à-ö", "а-я", "z-a", "a-", "-", "!-/", `\x00-\x{10ffff}`, `\t-\r`)
		default:
			s += rune1()
		}
	}
	return s + "]"
}

func atom(depth int) string {
	switch n := r.Intn(14); {
	case n < 4:
		return regexp.QuoteMeta(rune1())
	case n == 4:
		return "."
	case n < 7:
		return class()
	case n == 7:
		return escape()
	case n == 8:
		return pick("^", "$", `\b`, `\B`, `\A`, `\z`, "(?i)", "(?m)", "(?s)", "(?-i)", "(?U)", `\Qa*\E`, "")
	case depth > 2:
		return pick("a", "b")
	case n == 9:
		return pick("(?:", "(", "(?i:", "(?m:", "(?s:", "(?P<n>", "(?<m>", "(?i-s:") + alt(depth+1) + ")"
	default:
		return "(" + alt(depth+1) + ")"
	}
}

func alt(depth int) string {
	s := ""
	for n := 1 + r.Intn(3); n > 0; n-- {
		for m := r.Intn(4); m >= 0; m-- {
			s += atom(depth)
			if r.Intn(3) == 0 {
				s += pick("*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}", "{3}?", "{0}", "{12}", "{2,1}", "{,2}", "{02}", "{1001}", "{2,40}")
			}
		}
		if n > 1 {
			s += "|"
		}
	}
	return s
}

// Some are broken on purpose.
func pattern() string {
	p := alt(0)
	if r.Intn(3) == 0 {
		p = "^" + p
	}
	if r.Intn(3) == 0 {
		p += "$"
	}
	if r.Intn(8) == 0 && len(p) > 0 {
		at := r.Intn(len(p))
		p = p[:at] + pick("*", "(", ")", "[", "]", "{", "}", `\`, "?", "(?", "|", `\p`, `\x`, "(?P<", "") + p[at+r.Intn(2):]
	}
	return p
}

func text() string {
	var b strings.Builder
	for n := r.Intn(12); n > 0; n-- {
		b.WriteString(rune1())
	}
	return b.String()
}

func main() {
	n := flag.Int("n", 1000, "how many")
	seed := flag.Int64("seed", 1, "of the random numbers")
	flag.Parse()
	r = rand.New(rand.NewSource(*seed))
	for i := 0; i < *n; i++ {
		p, t := pattern(), text()
		if !utf8.ValidString(p) || len(p) > 60 {
			continue
		}
		re, err := regexp.Compile(p)
		var says interface{}
		if err != nil {
			says = err.Error()
		} else {
			if r.Intn(2) == 0 { // what matches is rare
				for k := 0; k < 20 && !re.MatchString(t); k++ {
					t = text()
				}
			}
			says = re.MatchString(t)
		}
		line, _ := json.Marshal([]interface{}{p, t, says})
		fmt.Println(string(line))
	}
}
