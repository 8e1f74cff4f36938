/// A type's name as a tree, for comparing a name in a model with a type of the program: `[String]` is
/// `Swift.Array<Swift.String>`, and `Color` is `Drawing.Color`.
struct TypeName: Equatable {
  /// The module, outer types and name, as far as the text has them.
  var path: [Substring]
  var arguments: [TypeName] = []

  /// Parses a name as a programmer or the compiler writes it; nil for tuples, functions and other types without a name.
  init?(_ text: some StringProtocol) {
    let text = String(text)
    var parser = TypeNameParser(rest: text[...])
    guard let name = parser.type(), parser.rest.isEmpty else { return nil }
    self = name
  }

  init(path: [Substring], arguments: [TypeName]) {
    self.path = path
    self.arguments = arguments
  }

  /// Whether this name, as written in a model, denotes `type`, as the compiler writes it. Modules and outer types may be
  /// omitted, and a Foundation collection stands for Swift's with any elements.
  func means(_ type: TypeName) -> Bool {
    if path.count == 1, let bridged = Self.bridged[String(path[0])] {
      return [bridged] == type.path.suffix(1) && arguments.isEmpty
    }
    return path.count <= type.path.count && path == Array(type.path.suffix(path.count))
      && arguments.count == type.arguments.count
      && zip(arguments, type.arguments).allSatisfy { $0.means($1) }
  }

  /// The Swift equivalents of Foundation's classes.
  private static let bridged: [String: Substring] = [
    "NSArray": "Array", "NSDictionary": "Dictionary", "NSSet": "Set", "NSString": "String", "NSData": "Data",
    "NSDate": "Date", "NSURL": "URL", "NSUUID": "UUID", "NSDecimalNumber": "Decimal",
  ]
}

/// Parses `Module.Outer.Name<Argument, Argument>`, `[Element]`, `[Key: Value]` and `Name?`.
private struct TypeNameParser {
  var rest: Substring

  mutating func type() -> TypeName? {
    skipSpaces()
    guard var name = rest.first == "[" ? collection() : named() else { return nil }
    skipSpaces()
    while take("?") {
      name = TypeName(path: ["Optional"], arguments: [name])
      skipSpaces()
    }
    return name
  }

  private mutating func collection() -> TypeName? {
    guard take("["), let first = type() else { return nil }
    var arguments = [first]
    if take(":") {
      guard let second = type() else { return nil }
      arguments.append(second)
    }
    guard take("]") else { return nil }
    return TypeName(path: [arguments.count == 1 ? "Array" : "Dictionary"], arguments: arguments)
  }

  private mutating func named() -> TypeName? {
    var path: [Substring] = []
    repeat {
      // The compiler writes the context of a private or local type: `Module.(unknown context at $1f).Name`.
      if rest.first == "(" {
        guard !path.isEmpty, let end = rest.firstIndex(of: ")") else { return nil }
        rest = rest[rest.index(after: end)...]
        continue
      }
      let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
      // Xcode's leading dot means the program's own module.
      guard !name.isEmpty || path.isEmpty else { return nil }
      rest = rest[name.endIndex...]
      if !name.isEmpty { path.append(name) }
    } while take(".")
    guard !path.isEmpty else { return nil }
    guard take("<") else { return TypeName(path: path, arguments: []) }
    var arguments: [TypeName] = []
    repeat {
      guard let argument = type() else { return nil }
      arguments.append(argument)
      skipSpaces()
    } while take(",")
    return take(">") ? TypeName(path: path, arguments: arguments) : nil
  }

  private mutating func skipSpaces() { rest = rest.drop { $0 == " " } }

  private mutating func take(_ character: Character) -> Bool {
    guard rest.first == character else { return false }
    rest.removeFirst()
    return true
  }
}
