/// The value of one of a ticket's options.
package enum TicketValue: Sendable, Equatable {
  case string(String)
  case int(Int)
  case bool(Bool)
  case strings([String])
}
