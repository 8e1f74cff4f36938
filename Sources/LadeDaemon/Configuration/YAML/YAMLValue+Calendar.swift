import Jobs

extension YAMLValue {
  /// A calendar expression, or a list of them.
  func calendar(in zone: CalendarZone) -> [CalendarExpression]? {
    guard node.string == nil else { return calendarExpression(in: zone).map { [$0] } }
    guard let elements = elements(of: "calendar expressions") else { return nil }
    if elements.isEmpty { wrongType("a list of at least one calendar expression") }
    let expressions = elements.compactMap { $0.calendarExpression(in: zone) }
    return expressions.count == elements.count && !expressions.isEmpty ? expressions : nil
  }

  private func calendarExpression(in zone: CalendarZone) -> CalendarExpression? {
    guard let text = text() else { return nil }
    do throws(CalendarExpressionError) {
      return try CalendarExpression(text, zone: zone)
    } catch {
      wrong(error.problem, atColumn: error.column)
      return nil
    }
  }
}
