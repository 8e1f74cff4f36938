import ControlAPI

extension RecipeTestExample {
  /// Examples as lines: each object, and below it its values.
  static func text(_ examples: [RecipeTestExample]) -> String {
    var text = ""
    for (change, title) in [(Change.inserted, "Inserted"), (.updated, "Changed")] {
      let objects = examples.filter { $0.change == change }
      guard !objects.isEmpty else { continue }
      text += "\n\(title), for example:\n"
      for object in objects {
        text += "  \(object.entity.printable)\(object.key.map { " " + $0.printable } ?? "")\n"
        for value in object.values { text += "    \(value.property.printable): \(value.text(change))\n" }
      }
    }
    return text
  }
}

extension RecipeTestExample.Value {
  fileprivate func text(_ change: RecipeTestExample.Change) -> String {
    let new = new?.printable ?? "–"
    return change == .inserted ? new : "\(old?.printable ?? "–") → \(new)"
  }
}
