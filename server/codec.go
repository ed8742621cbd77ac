package server

import (
	"bytes"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // the codec that is made use of
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// codec is the codec of protobuf, but that nobody's bytes are the arena's failure, and that it can be known when an answer
// was taken.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2("proto")} }

// unreadable marks a message whose bytes were none: an unknown field, of a number that no message has. (gRPC would end the
// call with INTERNAL, which is for what a client cannot mend.)
var unreadable = protowire.AppendVarint(protowire.AppendTag(nil, protowire.FirstReservedNumber, protowire.VarintType), 1)

// Unmarshal implements encoding.CodecV2.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	err := c.CodecV2.Unmarshal(data, v)
	if m, is := v.(proto.Message); is && err != nil {
		proto.Reset(m)
		m.ProtoReflect().SetUnknown(unreadable)
		return nil
	}
	return err
}

// readable refuses a message whose bytes were none.
func readable(v any) error {
	if m, is := v.(proto.Message); is && bytes.Equal(m.ProtoReflect().GetUnknown(), unreadable) {
		return failed(codes.InvalidArgument, "UNREADABLE", "the bytes are no %s: no protobuf, or a text in them is not UTF-8", m.ProtoReflect().Descriptor().Name())
	}
	return nil
}

// Marshal implements encoding.CodecV2.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	a, is := v.(*answer)
	if !is {
		return c.CodecV2.Marshal(v)
	}
	data, err := proto.Marshal(a.Message)
	if err != nil {
		a.taken()
		return nil, err
	}
	return mem.BufferSlice{mem.NewBuffer(&data, release(a.taken))}, nil
}

// release is called when a buffer is not needed any more.
type release func()

// Get implements mem.BufferPool; nothing is taken out of here.
func (release) Get(length int) *[]byte {
	b := make([]byte, length)
	return &b
}

// Put implements mem.BufferPool.
func (r release) Put(*[]byte) { r() }
