// Package wire holds every value that crosses a process boundary of srt: plain, versioned structs and the strict codec for them.
// It imports the standard library only, has no effects, and must never gain a value that one side may ignore:
// an unknown field, a repeated or wrongly spelt key, another version or trailing text is refused by the receiver.
//
// The conversations (who speaks, what answers, where a descriptor moves):
//
//	srt → helper     LaunchRequest | CheckRequest | DescribeRequest   one strict JSON message
//	helper → srt     LaunchPlan | CheckReport | Description, or a Fault
//	init → srt       ControlMessage, one datagram each (see control.go); descriptors ride on KindListeners and KindStarted
//	srt → init       nothing but the end of the channel, which ends the sandbox
//	srt → proxyd     ProxyCommand (see proxy.go); descriptors ride on OpAttach
//	proxyd → srt     ProxyEvent
//
// The same bytes travel over go-plugin (core/pluginrpc) and over an inherited descriptor (core/oneshot).
package wire
