package webhooks

import "unicode/utf8"

// maxDepth is how deep arrays and objects may lie in each other; it is that of
// encoding/json. What is deeper passes for text.
const maxDepth = 10_000

// isJSON says whether value is JSON that can stand as it is within another text.
// Duplicate names and lone surrogates in escapes are the receiver's business, but
// bytes that are no UTF-8 would spoil the whole.
//
// encoding/json.Valid says the same but for UTF-8, and a test holds the two
// together. It takes twice the time, and would be the dearest part by far of
// making a body.
func isJSON(value []byte) bool {
	c := jsonChecker{text: value}
	c.blanks()
	if !c.value(0) {
		return false
	}
	c.blanks()
	return c.at == len(value) && utf8.Valid(value)
}

// jsonChecker reads a JSON text (RFC 8259) and forgets it.
type jsonChecker struct {
	text []byte
	at   int
}

// next takes the next byte; 0, which is nowhere lawful, at the end.
func (c *jsonChecker) next() byte {
	if c.at >= len(c.text) {
		return 0
	}
	c.at++
	return c.text[c.at-1]
}

// peek is the next byte, 0 at the end.
func (c *jsonChecker) peek() byte {
	if c.at >= len(c.text) {
		return 0
	}
	return c.text[c.at]
}

func (c *jsonChecker) blanks() {
	for c.at < len(c.text) {
		switch c.text[c.at] {
		case ' ', '\t', '\r', '\n':
			c.at++
		default:
			return
		}
	}
}

// value takes one value; depth arrays and objects lie around it.
func (c *jsonChecker) value(depth int) bool {
	switch first := c.next(); first {
	case '"':
		return c.string()
	case '{':
		return depth < maxDepth && c.list('}', depth+1)
	case '[':
		return depth < maxDepth && c.list(']', depth+1)
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	default:
		return c.number(first)
	}
}

// word takes a word whose first letter is taken already.
func (c *jsonChecker) word(word string) bool {
	rest := word[1:]
	if len(c.text)-c.at < len(rest) || string(c.text[c.at:c.at+len(rest)]) != rest {
		return false
	}
	c.at += len(rest)
	return true
}

// list takes the rest of an array or an object, which ends with end.
func (c *jsonChecker) list(end byte, depth int) bool {
	c.blanks()
	if c.peek() == end {
		c.at++
		return true
	}
	for {
		c.blanks()
		if end == '}' && !c.name() {
			return false
		}
		if !c.value(depth) {
			return false
		}
		c.blanks()
		switch c.next() {
		case ',':
		case end:
			return true
		default:
			return false
		}
	}
}

// name takes the name of a member, its colon and the blanks around that.
func (c *jsonChecker) name() bool {
	if c.next() != '"' || !c.string() {
		return false
	}
	c.blanks()
	if c.next() != ':' {
		return false
	}
	c.blanks()
	return true
}

// string takes the rest of a string.
func (c *jsonChecker) string() bool {
	for {
		rest := c.text[c.at:]
		n := 0
		for n < len(rest) && plainInString[rest[n]] {
			n++
		}
		c.at += n
		switch c.next() {
		case '"':
			return true
		case '\\':
			if !c.escape() {
				return false
			}
		default:
			return false
		}
	}
}

// plainInString are the bytes that stand for themselves in a string.
var plainInString = func() (plain [256]bool) {
	for c := ' '; c < 256; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

func (c *jsonChecker) escape() bool {
	switch c.next() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		for range 4 {
			if !isHex(c.next()) {
				return false
			}
		}
		return true
	default:
		return false
	}
}

func isHex(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// number takes the rest of a number.
func (c *jsonChecker) number(first byte) bool {
	if first == '-' {
		first = c.next()
	}
	if !isDigit(first) {
		return false
	}
	if first != '0' {
		c.digits()
	}
	if c.peek() == '.' {
		c.at++
		if !c.digits() {
			return false
		}
	}
	if c.peek()|0x20 == 'e' {
		c.at++
		if sign := c.peek(); sign == '+' || sign == '-' {
			c.at++
		}
		return c.digits()
	}
	return true
}

// digits takes digits, and says whether there were any.
func (c *jsonChecker) digits() bool {
	start := c.at
	for c.at < len(c.text) && isDigit(c.text[c.at]) {
		c.at++
	}
	return c.at > start
}
