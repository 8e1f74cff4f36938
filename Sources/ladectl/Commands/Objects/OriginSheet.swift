import ControlAPI

/// Where objects come from, as `ladectl where-from` prints it.
struct OriginSheet: Sendable {
  let origins: RowOrigins

  func rendered(style: Style) -> String {
    if origins.objects.isEmpty { return "No \(origins.entity.printable) matches.\n" }
    return origins.objects.map { object in
      let title = style("\(origins.entity.printable) \(object.key.printable)", .bold)
      if object.steps.isEmpty { return "\(title)\n  of unknown origin\n" }
      return "\(title)\n" + object.steps.map { Self.text($0, style) }.joined()
    }.joined(separator: "\n")
  }

  private static func text(_ step: OriginStep, _ style: Style) -> String {
    var lines: [String] = []
    var place = step.file.map { "  \($0.printable)" } ?? ""
    if let member = step.member { place += ", member \(member.printable)" }
    if let record = step.record {
      if let line = step.line { place += ", line \(line)" }
      if let byte = step.byte { place += ", byte \(byte)" }
      place += ", record \(record)"
    }
    if !place.isEmpty { lines.append(place) }
    if let hash = step.sha256 { lines.append("  sha256 \(hash)") }
    var job = "  job \(step.job) (\(step.kind.printable))"
    if let undone = step.undoes { job += ", which took back job \(undone)" }
    if let recipe = step.recipe { job += ", recipe \(recipe.printable)" }
    job += ", submitted by \(step.submittedBy.namingUsers.printable) on \(Quantity.time(step.submittedAt))"
    if let undoneBy = step.undoneBy { job += "; taken back by job \(undoneBy)" }
    lines.append(job)
    return "  " + style(words(step), .yellow) + "\n" + lines.map { "  \($0)\n" }.joined()
  }

  private static func words(_ step: OriginStep) -> String {
    switch (step.event, step.undoes) {
    case ("inserted", nil): "inserted"
    case ("inserted", _): "inserted again"
    case ("updated", nil): "changed"
    case ("updated", _): "got its former values back"
    default: "deleted"
    }
  }
}
