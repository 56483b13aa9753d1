package main

import (
	"bytes"
	"strconv"
	"time"
)

// valueBytes is the size of a record's value.
const valueBytes = 1024

// A value begins with when it was made, in Unix nanoseconds, and the record's
// number, both in fixed width; the rest is padding.
const (
	timeDigits   = 19
	numberDigits = 10
)

var padding = bytes.Repeat([]byte{'x'}, valueBytes)

// newValue makes the value of a record.
func newValue(number int, now time.Time) []byte {
	value := bytes.Clone(padding)
	digits(value[:timeDigits], uint64(now.UnixNano()))
	value[timeDigits] = ' '
	digits(value[timeDigits+1:][:numberDigits], uint64(number))
	return value
}

func digits(into []byte, n uint64) {
	for i := len(into) - 1; i >= 0; i-- {
		into[i] = byte('0' + n%10)
		n /= 10
	}
}

// parseValue is newValue's reverse.
func parseValue(value []byte) (number int, produced time.Time, ok bool) {
	if len(value) != valueBytes {
		return 0, time.Time{}, false
	}
	nanos, err := strconv.ParseInt(string(value[:timeDigits]), 10, 64)
	if err != nil {
		return 0, time.Time{}, false
	}
	number, err = strconv.Atoi(string(value[timeDigits+1:][:numberDigits]))
	if err != nil {
		return 0, time.Time{}, false
	}
	return number, time.Unix(0, nanos), true
}
