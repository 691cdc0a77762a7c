package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Seal encodes a thread, an interrupt or the entries of a commit for a store: compact JSON and eight hexadecimal digits of its CRC-32C.
func Seal(v any) ([]byte, error) {
	data, err := Encode(v)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(data, "%08x", crc32.Checksum(data, castagnoli)), nil
}

// Unseal decodes what [Seal] encoded into v. Bytes that are not exactly those are refused with [CodeInternal]: the record is damaged.
func Unseal(data []byte, v any) error {
	const op, digits = "unseal", 8
	if len(data) < digits {
		return refuse(CodeInternal, op, errors.New("the record is cut off"))
	}
	body, sum := data[:len(data)-digits], data[len(data)-digits:]
	if fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli)) != string(sum) {
		return refuse(CodeInternal, op, errors.New("the record is damaged: its checksum is wrong"))
	}
	if err := json.Unmarshal(body, v); err != nil {
		return refuse(CodeInternal, op, err)
	}
	return nil
}
