extension FetchPredicate {
  /// The functions of Core Data's `NSExpression` that every store can evaluate, under `NSExpression`'s names.
  ///
  /// The format language writes a name with its colons, `modulus:by:(a, b)`, or without them if the function has one
  /// argument, `abs(a)`.
  public enum Function: String, Sendable, Hashable, CaseIterable {
    // Arithmetic: two numbers. Dates and seconds can be added and subtracted.
    /// `a + b`
    case add = "add:to:"
    /// `a - b`
    case subtract = "from:subtract:"
    /// `a * b`
    case multiply = "multiply:by:"
    /// `a / b`; truncated towards zero for integers.
    case divide = "divide:by:"
    /// The remainder of a division, with the sign of the first number.
    case modulus = "modulus:by:"
    /// `a ** b`, a double.
    case power = "raise:toPower:"
    /// `-a`
    case negate = "negate:"

    // Bits of integers; other numbers are truncated towards zero first.
    /// The bits set in both.
    case bitwiseAnd = "bitwiseAnd:with:"
    /// The bits set in either.
    case bitwiseOr = "bitwiseOr:with:"
    /// The bits set in exactly one.
    case bitwiseXor = "bitwiseXor:with:"
    /// The bits shifted left.
    case leftShift = "leftshift:by:"
    /// The bits shifted right, keeping the sign.
    case rightShift = "rightshift:by:"
    /// All bits inverted.
    case onesComplement = "onesComplement:"

    // One number.
    /// The absolute value.
    case absolute = "abs:"
    /// The smallest whole number that isn't less.
    case ceiling = "ceiling:"
    /// The largest whole number that isn't greater.
    case floor = "floor:"
    /// The whole number towards zero.
    case truncate = "trunc:"
    /// The square root, a double.
    case squareRoot = "sqrt:"
    /// e to the power of the number, a double.
    case exponential = "exp:"
    /// The logarithm to base e, a double.
    case naturalLogarithm = "ln:"
    /// The logarithm to base 10, a double.
    case logarithm = "log:"

    // One string.
    /// The number of UTF-16 code units, as `NSString` counts.
    case length = "length:"
    /// In lower case.
    case lowercase = "lowercase:"
    /// In upper case.
    case uppercase = "uppercase:"
    /// Folded as `[cd]` folds: without case and diacritics.
    case canonical = "canonical:"

    /// The time of the fetch.
    case now = "now"

    // Aggregates: of a collection or a list.
    /// The sum; 0 for an empty collection.
    case sum = "sum:"
    /// The number of objects, or of values that aren't nil.
    case count = "count:"
    /// The least.
    case minimum = "min:"
    /// The greatest.
    case maximum = "max:"
    /// The mean: a decimal for decimals, otherwise a double.
    case average = "average:"

    /// Whether the function reduces many values to one.
    public var isAggregate: Bool {
      switch self {
      case .sum, .count, .minimum, .maximum, .average: return true
      default: return false
      }
    }

    /// The number of arguments.
    public var argumentCount: Int {
      switch self {
      case .now: return 0
      case .add, .subtract, .multiply, .divide, .modulus, .power, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift,
        .rightShift:
        return 2
      default: return 1
      }
    }

    /// The operator that stands for the function in the format language, nil if there is none.
    var symbol: String? {
      switch self {
      case .add: return "+"
      case .subtract: return "-"
      case .multiply: return "*"
      case .divide: return "/"
      case .power: return "**"
      default: return nil
      }
    }

    /// The function of that name, with or without the colon at its end.
    public init?(named name: String) {
      let wanted = name.lowercased()
      for function in Self.allCases {
        let known = function.rawValue.lowercased()
        if known == wanted || known == wanted + ":" {
          self = function
          return
        }
      }
      return nil
    }

    /// The function that a collection operator of a key path names: `@count`, `@sum`, `@avg`, `@min`, `@max`.
    init?(collectionOperator name: String) {
      switch name {
      case "@count": self = .count
      case "@sum": self = .sum
      case "@avg": self = .average
      case "@min": self = .minimum
      case "@max": self = .maximum
      default: return nil
      }
    }
  }
}
