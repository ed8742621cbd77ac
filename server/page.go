package server

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strconv"
)

// defaultPage is the size of a page when page_size is 0.
const defaultPage = 100

// page is a place in a list: after is the key of the last thing on the page before, "" at the beginning. Keys are in no
// token as they are, so that nobody comes to rely on them.
type page struct {
	size  int
	after string
}

// pageOf reads where a page begins. Kind names the list: a token of one is of no use for another.
func pageOf(kind string, size uint32, token string) (page, error) {
	p := page{size: int(cmp.Or(size, defaultPage))}
	if token == "" {
		return p, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(text) <= len(kind) || string(text[:len(kind)+1]) != kind+":" {
		return p, invalid("page_token", fmt.Sprintf("is no next_page_token of a list of %s", kind))
	}
	p.after = string(text[len(kind)+1:])
	return p, nil
}

// nextPage is the token for the page that begins after a key.
func nextPage(kind, key string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(kind + ":" + key))
}

// number is after as a number, 0 at the beginning.
func (p page) number() (int64, error) {
	if p.after == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(p.after, 10, 64)
	if err != nil {
		return 0, invalid("page_token", "is damaged; send next_page_token as it came")
	}
	return n, nil
}

// cut is what of a list is on a page, and the token of the page after; the list begins where the page does and has one
// item more than the page if there is another page.
func cut[T any](p page, kind string, list []T, key func(T) string) (items []T, next string) {
	if len(list) <= p.size {
		return list, ""
	}
	return list[:p.size], nextPage(kind, key(list[p.size-1]))
}
