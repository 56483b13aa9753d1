package webhooks

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// jsonTexts are texts at the edges of the grammar.
var jsonTexts = []string{
	"", " ", "{}", "[]", "[ ]", "{ }", "[1,2]", "[1,]", "[,1]", "[1 2]", `{"a":1}`, `{"a":1,}`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a" : [ 1 , {} ] }`,
	"[", "{", `{"a"`, `{"a":`, `{"a":1`, "[1", "[1,", "]", "}", "[}", "{]", "1]", `"`, `"a`, `"a"b`, `"\`, `"\"`, `"\a"`, `"\u12"`, `"\u12G4"`, `"\u12aF"`,
	`"\b\f\n\r\t\/\\\""`, "\"a\nb\"", "\"a\tb\"", "\"a\x7fb\"", "\"\x00\"", "\x00", "0", "-0", "-", "01", "-01", "1.", ".1", "1.5", "1e5", "1E+5", "1e-", "1e",
	"1.5e10", "--1", "+1", "0x1", "1_0", "true", "tru", "truex", "false", "null", "nul", "NaN", "Infinity", "\ufeff1", "\u00a01", "1\f", "\v1", "// a\n1",
	"\"\xff\"", "\"\xed\xa0\x80\"", "\xff", "{\"\xc3\":1}", `{"a":1,"a":2}`, "\r\n1\t ", "'a'", `[1,[2,[3,{"a":[]}]]]`, "[true,false,null]", "[nullnull]",
	"e", "[e]", "1.e5", "0.0e0", "00", "0e", "\x00\x00",
}

// What is JSON here is what is JSON to encoding/json, and UTF-8.
func TestJSONIsThatOfTheStandardLibrary(t *testing.T) {
	for _, text := range jsonTexts {
		checkIsJSON(t, []byte(text))
	}
	for _, value := range oddValues() {
		checkIsJSON(t, value)
	}
	for _, depth := range []int{maxDepth - 1, maxDepth, maxDepth + 1, 1 << 20} {
		checkIsJSON(t, []byte(strings.Repeat("[", depth)+strings.Repeat("]", depth)))
		checkIsJSON(t, []byte(strings.Repeat(`{"a":`, depth)+"1"+strings.Repeat("}", depth)))
	}
}

func FuzzIsJSON(f *testing.F) {
	for _, text := range jsonTexts {
		f.Add([]byte(text))
	}
	f.Fuzz(checkIsJSON)
}

func checkIsJSON(t *testing.T, value []byte) {
	if got, want := isJSON(value), json.Valid(value) && utf8.Valid(value); got != want {
		t.Errorf("%.100q: got %v, want %v", value, got, want)
	}
}

func BenchmarkIsJSON(b *testing.B) {
	value := jsonValue()
	for name, valid := range map[string]func([]byte) bool{"ours": isJSON, "encoding/json": json.Valid} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(value)))
			for b.Loop() {
				if !valid(value) {
					b.Fatal("no JSON")
				}
			}
		})
	}
}
