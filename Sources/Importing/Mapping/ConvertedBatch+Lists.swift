import ManagedObjects

extension ConvertedBatch {
  /// The keys that a record gives for a to-many relationship, in their order and each once; nil when it says nothing.
  func list(_ collection: RecordMapping.Reference, _ record: Int) -> Result<[Value]?, KeyProblem> {
    guard let column = collection.column else { return .success(nil) }
    let cell = source.cell(record, column)
    var keys: [Value] = []
    var seen: Set<Value> = []
    func add(_ key: Result<Value, ConversionCode>, _ text: @autoclosure () -> String) -> KeyProblem? {
      switch key {
      case .success(let key):
        if !key.isNull, seen.insert(key).inserted { keys.append(key) }
        return nil
      case .failure(let code):
        var text = text()
        let problem = text.withUTF8 { collection.converter.problem(code, text: UnsafeRawBufferPointer($0)) }
        return KeyProblem(code: code.rawValue, message: problem.description)
      }
    }
    var problem: KeyProblem?
    switch cell.kind {
    case .missing: return .success(nil)
    case .null, .empty: break
    case .text:
      guard let separator = collection.separator else {
        problem = add(convert(cell, collection.converter), source.string(cell))
        break
      }
      for var part in source.string(cell).split(separator: separator) where problem == nil {
        while part.first == " " { part.removeFirst() }
        while part.last == " " { part.removeLast() }
        problem = add(Self.convert(.text(String(part)), collection.converter), String(part))
      }
    case .number, .yes, .no: problem = add(convert(cell, collection.converter), source.string(cell))
    case .nested:
      if hasObject(cell) { return .success(nil) }
      let nested = source.withBytes(of: cell) { NestedValue(json: $0) } ?? .null
      for element in nested.elements where problem == nil {
        problem = add(Self.convert(element, collection.converter), element.shown)
      }
    }
    return problem.map(Result.failure) ?? .success(keys)
  }

  private static func convert(_ nested: NestedValue, _ converter: ValueConverter) -> Result<Value, ConversionCode> {
    attempt { () throws(ConversionCode) in try converter.convert(nested) }
  }
}
