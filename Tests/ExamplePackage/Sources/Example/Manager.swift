import ManagedObjects

/// The model's class for managers: its accessors are generated, the rest is written here.
public class Manager: Person {
  var title: String { committed ? "Managing \(name ?? "nobody")" : name ?? "nobody" }
}
