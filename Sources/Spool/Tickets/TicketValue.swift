/// The value of one of a ticket's options.
package indirect enum TicketValue: Sendable, Equatable {
  case string(String)
  case int(Int)
  case bool(Bool)
  case list([TicketValue])
  case map([String: TicketValue])
}
