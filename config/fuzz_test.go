package config

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// FuzzParse holds for any bytes: no panic; either a Config that reads back as
// itself, or faults that each have a place.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*.yaml", "testdata/good/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		c, err := Parse("fuzz.yaml", src, testOptions())
		if err != nil {
			var problems Problems
			if !errors.As(err, &problems) || len(problems) == 0 {
				t.Fatalf("got %v, want Problems", err)
			}
			for i, p := range problems {
				if p.File != "fuzz.yaml" || p.Line < 1 || p.Column < 1 || p.Reason == "" {
					t.Errorf("no place or reason in %+v", p)
				}
				if i > 0 && problems[i-1].Line > p.Line {
					t.Errorf("not in file order: %v", problems)
				}
			}
			return
		}
		var out bytes.Buffer
		if err := c.Print(&out); err != nil {
			t.Fatal(err)
		}
		if c.hidden != nil || bytes.Contains(out.Bytes(), []byte(hiddenText)) {
			return // what is hidden does not read back
		}
		again, err := Parse("fuzz.yaml", out.Bytes(), testOptions())
		if err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		if !reflect.DeepEqual(c, again) {
			t.Errorf("got  %+v\nwant %+v\n%s", *again, *c, out.String())
		}
	})
}
