/// What may be done to many jobs at once.
package enum BulkChange: Sendable, Equatable {
  case cancel, retry, hold, release, remove
  case priority(Int)
}
