package webhooks

// isPrintable says whether s is printable ASCII alone, which any receiver reads
// as it was sent. HTTP also lets bytes above 0x7f through, but servers disagree on
// what characters they are.
func isPrintable[T string | []byte](s T) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// isCarried says whether HTTP hands s over unchanged as the value of a header:
// printable, and without the blanks at the ends that receivers strip.
func isCarried(s []byte) bool {
	if len(s) > 0 && (s[0] == ' ' || s[len(s)-1] == ' ') {
		return false
	}
	return isPrintable(s)
}

// isToken says whether s is the name of a header (RFC 9110, 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		if !tokenChars[s[i]] {
			return false
		}
	}
	return s != ""
}

var tokenChars = func() (chars [256]bool) {
	for c := byte('a'); c <= 'z'; c++ {
		chars[c], chars[c-'a'+'A'] = true, true
	}
	for _, c := range []byte("0123456789!#$%&'*+-.^_`|~") {
		chars[c] = true
	}
	return chars
}()
