/// What happened to an entry, as a log line names it under `event`: words that stay the same, for programs that read the log.
package enum SpoolLogEvent: String, Sendable, CaseIterable {
  case refused = "entry-refused"
  case failed = "entry-failed"
}
