package runtime

import (
	"iter"
	"math/bits"
)

// A route set is an array of words in generated code, [N]uint64, so it is comparable, copied by
// assignment and needs no allocation. Route r, counted from 1, is bit r-1. The functions here take
// the array as a slice; 0 and values beyond the words are ignored.

// SetWith adds values to the set. A value that is 0, not below end, or beyond the words is left
// out.
func SetWith[R ~uint16 | ~uint32](words []uint64, end R, rs ...R) {
	for _, r := range rs {
		if w, bit := wordAndBit(r); r < end && w < uint(len(words)) {
			words[w] |= bit
		}
	}
}

// SetWithout removes values from the set.
func SetWithout[R ~uint16 | ~uint32](words []uint64, rs ...R) {
	for _, r := range rs {
		if w, bit := wordAndBit(r); w < uint(len(words)) {
			words[w] &^= bit
		}
	}
}

// SetHas reports whether r is in the set; false for 0 and for values beyond the words.
func SetHas[R ~uint16 | ~uint32](words []uint64, r R) bool {
	w, bit := wordAndBit(r)
	return w < uint(len(words)) && words[w]&bit != 0
}

// SetAnd keeps in words only what is in other too.
func SetAnd(words, other []uint64) {
	for i := range words {
		if i < len(other) {
			words[i] &= other[i]
		} else {
			words[i] = 0
		}
	}
}

// SetAll returns the values of the set in ascending order, which is the order of the spec. The set
// is read while the sequence runs.
func SetAll[R ~uint16 | ~uint32](words []uint64) iter.Seq[R] {
	return func(yield func(R) bool) {
		for i, word := range words {
			for ; word != 0; word &= word - 1 {
				if !yield(R(i*64 + bits.TrailingZeros64(word) + 1)) {
					return
				}
			}
		}
	}
}

// SetLen returns the number of values in the set.
func SetLen(words []uint64) int {
	n := 0
	for _, word := range words {
		n += bits.OnesCount64(word)
	}
	return n
}

// SetOnly returns the one value of a set of one, and false for any other set.
func SetOnly[R ~uint16 | ~uint32](words []uint64) (R, bool) {
	r := singleValue(words)
	return R(r), r != 0
}

// singleValue returns the one value of a set of one, or 0.
func singleValue(words []uint64) int {
	found := 0
	for i, word := range words {
		if word == 0 {
			continue
		}
		if found != 0 || word&(word-1) != 0 {
			return 0
		}
		found = i*64 + bits.TrailingZeros64(word) + 1
	}
	return found
}

// wordAndBit returns the word and the bit of r. For 0 the word is beyond any slice.
func wordAndBit[R ~uint16 | ~uint32](r R) (uint, uint64) {
	i := uint(r) - 1
	return i / 64, 1 << (i % 64)
}
