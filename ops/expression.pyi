# Written by `python -m tests.stubs`; tests/test_types.py says when it is to be written again.
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from typing_extensions import Self

Rule = Callable[..., Any]
G: dict[str, Callable[..., Any]]
DG: dict[str, Sequence[Rule | None]]
TG: dict[str, Sequence[Rule | None]]
INFIX: dict[str, str]
SAME: dict[str, str]
SYNONYMS: dict[str, str]
REARRANGED: dict[Any, Callable[..., Any]]

def nearest(name: str, known: Iterable[str]) -> str: ...
def operator_for(function: Any) -> Any: ...

class Expression:
    level: int
    def record(self, op: str, args: tuple[Any, ...]) -> Any: ...
    @property
    def T(self) -> Self: ...
    @property
    def mT(self) -> Self: ...
    def dot(self, other: Any) -> Self: ...
    def reshape(self, *shape: Any) -> Self: ...
    def sum(self, axis: Any = None, keepdims: bool = False) -> Self: ...
    def mean(self, axis: Any = None, keepdims: bool = False) -> Self: ...
    def max(self, axis: Any = None, keepdims: bool = False) -> Self: ...
    def min(self, axis: Any = None, keepdims: bool = False) -> Self: ...
    def __getitem__(self, key: Any, /) -> Self: ...
    def __eq__(self, other: Any, /) -> Self: ...  # type: ignore[override]
    def __ne__(self, other: Any, /) -> Self: ...  # type: ignore[override]
    def __hash__(self) -> int: ...
    def __bool__(self) -> NoReturn: ...
    def __array__(self, *_: Any, **__: Any) -> NoReturn: ...
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any: ...
    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any: ...
    def __neg__(self) -> Self: ...
    def __abs__(self) -> Self: ...
    def __invert__(self) -> Self: ...
    def __pos__(self) -> Self: ...
    def __add__(self, other: Any, /) -> Self: ...
    def __radd__(self, other: Any, /) -> Self: ...
    def __sub__(self, other: Any, /) -> Self: ...
    def __rsub__(self, other: Any, /) -> Self: ...
    def __mul__(self, other: Any, /) -> Self: ...
    def __rmul__(self, other: Any, /) -> Self: ...
    def __truediv__(self, other: Any, /) -> Self: ...
    def __rtruediv__(self, other: Any, /) -> Self: ...
    def __pow__(self, other: Any, /) -> Self: ...
    def __rpow__(self, other: Any, /) -> Self: ...
    def __matmul__(self, other: Any, /) -> Self: ...
    def __rmatmul__(self, other: Any, /) -> Self: ...
    def __and__(self, other: Any, /) -> Self: ...
    def __rand__(self, other: Any, /) -> Self: ...
    def __or__(self, other: Any, /) -> Self: ...
    def __ror__(self, other: Any, /) -> Self: ...
    def __lt__(self, other: Any, /) -> Self: ...
    def __le__(self, other: Any, /) -> Self: ...
    def __gt__(self, other: Any, /) -> Self: ...
    def __ge__(self, other: Any, /) -> Self: ...

class f:
    @staticmethod
    def Beta(a: Any, x: Any) -> Any:
        r"""Β(a, x) = Γ(a) Γ(x) / Γ(a + x)."""
    @staticmethod
    def Gamma(x: Any) -> Any:
        r"""Γ(x)."""
    @staticmethod
    def abs(x: Any) -> Any: ...
    @staticmethod
    def add(x: Any, y: Any) -> Any: ...
    @staticmethod
    def alias(x: Any) -> Any:
        r"""x itself, under another name."""
    @staticmethod
    def allreduce(x: Any) -> Any:
        r"""The sum of x over the workers that run the list together, each with its own rows; x for one alone."""
    @staticmethod
    def angle(z: Any) -> Any:
        r"""The angle of z, from −π to π. At 0 its derivative is 0."""
    @staticmethod
    def arccos(x: Any) -> Any: ...
    @staticmethod
    def arccosh(x: Any) -> Any: ...
    @staticmethod
    def arcsin(x: Any) -> Any: ...
    @staticmethod
    def arcsinh(x: Any) -> Any: ...
    @staticmethod
    def arctan(x: Any) -> Any: ...
    @staticmethod
    def arctan2(x: Any, y: Any) -> Any: ...
    @staticmethod
    def arctanh(x: Any) -> Any: ...
    @staticmethod
    def argmax(x: Any, axis: Any = None) -> Any:
        r"""The position of the first greatest x along axis; in the flattened x for None."""
    @staticmethod
    def argsort(x: Any, axis: Any = -1) -> Any:
        r"""The positions of the entries of x in ascending order along axis, equal ones in their own order."""
    @staticmethod
    def astype(x: Any, dtype: Any) -> Any: ...
    @staticmethod
    def besselI(a: Any, x: Any) -> Any:
        r"""I of order a, modified J."""
    @staticmethod
    def besselIe(a: Any, x: Any) -> Any:
        r"""besselI(a, x) e^(−|x|)."""
    @staticmethod
    def besselJ(a: Any, x: Any) -> Any:
        r"""J of order a, of the first kind."""
    @staticmethod
    def besselK(a: Any, x: Any) -> Any:
        r"""K of order a, modified Y."""
    @staticmethod
    def besselKe(a: Any, x: Any) -> Any:
        r"""besselK(a, x) eˣ."""
    @staticmethod
    def besselY(a: Any, x: Any) -> Any:
        r"""Y of order a, of the second kind."""
    @staticmethod
    def betainc(a: Any, b: Any, x: Any) -> Any:
        r"""∫₀ˣ t^(a−1) (1 − t)^(b−1) dt / Β(a, b)."""
    @staticmethod
    def betaln(a: Any, x: Any) -> Any:
        r"""log |Β(a, x)|."""
    @staticmethod
    def broadcast(x: Any, like: Any, axis: Any = ()) -> Any:
        r"""x spread to the shape and precision of like (an array, or a shape); x lacks the axes `axis`."""
    @staticmethod
    def bundle(*arrays: Any) -> Any:
        r"""The arrays in one register."""
    @staticmethod
    def call(function: Any, args: Any) -> Any:
        r"""The bundle of the function's results for a bundle of arguments. program: makes a function callable."""
    @staticmethod
    def cbrt(x: Any) -> Any: ...
    @staticmethod
    def ceil(x: Any) -> Any: ...
    @staticmethod
    def centered(x: Any, axis: Any = None) -> Any:
        r"""x − mean over axis; exactly 0 if all entries are equal."""
    @staticmethod
    def characters(x: Any, n: Any) -> Any:
        r"""The code points of the first n characters of each string, along a new last axis; 0 past its end."""
    @staticmethod
    def cholesky(a: Any) -> Any:
        r"""Lower triangular L of L Lᵀ = (a + aᵀ)/2. LinAlgError where that is not positive definite."""
    @staticmethod
    def clip(x: Any, lo: Any = None, hi: Any = None) -> Any:
        r"""x held between lo and hi (None: no bound). At the bounds the gradient passes."""
    @staticmethod
    def codes(x: Any, categories: Any) -> Any: ...
    @staticmethod
    def cofactor(a: Any) -> Any:
        r"""The matrix of cofactors, det(a) a⁻ᵀ; by singular values if a is singular, or nearly so."""
    @staticmethod
    def cofactor_slope(t: Any, a: Any) -> Any:
        r"""The derivative of cofactor(a) in the direction t, also if a is singular; it is its own adjoint."""
    @staticmethod
    def column(x: Any, b: Any) -> Any:
        r"""x as a column if b, of the system a x = b, is a vector; else x."""
    @staticmethod
    def concat(axis: Any, *arrays: Any) -> Any:
        r"""The arrays one after another along an axis that they have."""
    @staticmethod
    def cond(c: Any, yes: Any, no: Any, args: Any) -> Any:
        r"""The results of the function `yes` for the bundle args if the number c is true, else those of `no`."""
    @staticmethod
    def conj(z: Any) -> Any:
        r"""x − iy for z = x + iy."""
    @staticmethod
    def convolve(a: Any, v: Any) -> Any:
        r"""Σ a_i v_(k−i) of two vectors, at all k where they overlap."""
    @staticmethod
    def correlate(a: Any, v: Any) -> Any:
        r"""Σ_i a_(k+i) v_i of two vectors, for all k at which v fits into a. ValueError if v is longer."""
    @staticmethod
    def cos(x: Any) -> Any: ...
    @staticmethod
    def cosh(x: Any) -> Any: ...
    @staticmethod
    def count(x: Any, axis: Any = None, less: Any = 0) -> Any:
        r"""The number of entries of x along axis, less `less`: Python's number, which does not change float32."""
    @staticmethod
    def crossEntropy(p: Any, y: Any) -> Any:
        r"""−Σ y log p over the last axis, which stays: (n, k) gives (n, 1). 0 log 0 is 0."""
    @staticmethod
    def cumprod(x: Any, axis: Any = None) -> Any:
        r"""The products of the entries of x up to each, along axis; of the flattened x for None."""
    @staticmethod
    def cumsum(x: Any, axis: Any = None) -> Any:
        r"""The sums of the entries of x up to each, along axis; of the flattened x for None."""
    @staticmethod
    def dawsn(x: Any) -> Any:
        r"""∫₀ˣ exp(t² − x²) dt."""
    @staticmethod
    def days(x: Any) -> Any:
        r"""Days since 1970, of datetime64 or strings such as 2024-01-31T12:30. None is NaN."""
    @staticmethod
    def det(a: Any) -> Any:
        r"""The determinant of a."""
    @staticmethod
    def det_sign(a: Any) -> Any:
        r"""The sign of the determinant of a: −1, 0 or 1."""
    @staticmethod
    def diag(x: Any, k: Any = 0) -> Any:
        r"""The k-th diagonal of a matrix; of a vector the matrix that has it there."""
    @staticmethod
    def diag_back(d: Any, x: Any, k: Any = 0) -> Any:
        r"""d, of the shape of diag(x, k), put back into the shape of x."""
    @staticmethod
    def digamma(x: Any) -> Any:
        r"""The derivative of log Γ(x)."""
    @staticmethod
    def divide(x: Any, y: Any) -> Any: ...
    @staticmethod
    def dot(a: Any, b: Any) -> Any:
        r"""The matrix product a @ b: (n, k) by (k, m), vectors, batches of matrices; a may be SciPy-sparse."""
    @staticmethod
    def dot_left(d: Any, a: Any, b: Any) -> Any:
        r"""The contribution of the adjoint d of a @ b to a: d bᵀ, for any numbers of axes."""
    @staticmethod
    def dot_right(d: Any, a: Any, b: Any) -> Any:
        r"""The contribution of the adjoint d of a @ b to b: aᵀ d, for any numbers of axes."""
    @staticmethod
    def eigenvectors(a: Any, signs: Any = ('L',)) -> Any:
        r"""The orthonormal eigenvectors of (a + aᵀ)/2, as columns in the order of eigvalsh(a)."""
    @staticmethod
    def eigvalsh(a: Any) -> Any:
        r"""The eigenvalues of (a + aᵀ)/2 in ascending order."""
    @staticmethod
    def einsum(subscripts: Any, *arrays: Any) -> Any:
        r"""numpy.einsum; `...` may only lead. In a list subscripts are a tuple of one string."""
    @staticmethod
    def einsum_back(x: Any, like: Any, letters: Any) -> Any:
        r"""x, with axes letters[0], put back into the shape of like, with axes letters[1], in the same order."""
    @staticmethod
    def ellipe(x: Any) -> Any:
        r"""∫ √(1 − x sin² t) dt from 0 to π/2."""
    @staticmethod
    def ellipk(x: Any) -> Any:
        r"""∫ 1/√(1 − x sin² t) dt from 0 to π/2."""
    @staticmethod
    def elu(x: Any, alpha: Any = 1.0) -> Any:
        r"""x where positive, alpha·(eˣ − 1) elsewhere (Clevert et al. 2016)."""
    @staticmethod
    def equal(x: Any, y: Any) -> Any: ...
    @staticmethod
    def erf(x: Any) -> Any:
        r"""2/√π ∫₀ˣ exp(−t²) dt."""
    @staticmethod
    def erfc(x: Any) -> Any:
        r"""1 − erf(x)."""
    @staticmethod
    def erfcx(x: Any) -> Any:
        r"""exp(x²) erfc(x)."""
    @staticmethod
    def erfinv(x: Any) -> Any:
        r"""y of erf(y) = x."""
    @staticmethod
    def exp(x: Any) -> Any: ...
    @staticmethod
    def exp2(x: Any) -> Any: ...
    @staticmethod
    def exp_difference(x: Any, y: Any) -> Any:
        r"""exp(x − y); for two equal infinities 0 if they are −∞, and 1 if they are +∞."""
    @staticmethod
    def expi(x: Any) -> Any:
        r"""∫ eᵗ/t dt from −∞ to x."""
    @staticmethod
    def expm(a: Any) -> Any:
        r"""e^a = Σ aᵏ/k!, of matrices."""
    @staticmethod
    def expm1(x: Any) -> Any: ...
    @staticmethod
    def fft(x: Any, axes: Any = -1, norm: Any = ('backward',)) -> Any:
        r"""Σ_j x_j exp(−2πi jk/n) along an axis, a tuple of axes, or all for None; norm as NumPy's, in a tuple."""
    @staticmethod
    def flip(x: Any, axis: Any = None) -> Any:
        r"""x with its entries in reverse order along axis."""
    @staticmethod
    def floor(x: Any) -> Any: ...
    @staticmethod
    def floor_divide(x: Any, y: Any) -> Any: ...
    @staticmethod
    def frobeniusNorm(A: Any) -> Any:
        r"""√Σ A² over all entries (the notes §1.2). At 0 its gradient is 0."""
    @staticmethod
    def gammainc(a: Any, x: Any) -> Any:
        r"""∫₀ˣ t^(a−1) e^(−t) dt / Γ(a)."""
    @staticmethod
    def gammaincc(a: Any, x: Any) -> Any:
        r"""1 − gammainc(a, x)."""
    @staticmethod
    def gammaln(x: Any) -> Any:
        r"""log |Γ(x)|."""
    @staticmethod
    def gelu(x: Any) -> Any:
        r"""x · Φ(x), Φ the normal distribution function, exactly (Hendrycks and Gimpel 2016)."""
    @staticmethod
    def getitem(x: Any, *keys: Any) -> Any:
        r"""x[keys]: slices, integers, integer arrays and boolean masks, as NumPy does."""
    @staticmethod
    def greater(x: Any, y: Any) -> Any: ...
    @staticmethod
    def greater_equal(x: Any, y: Any) -> Any: ...
    @staticmethod
    def half(x: Any) -> Any:
        r"""½ x."""
    @staticmethod
    def hinge(z: Any, y: Any) -> Any:
        r"""Σ max(0, 1 + z_j − z_y) over j ≠ y: (n, k) gives (n, 1) (Weston and Watkins 1999)."""
    @staticmethod
    def hypot(x: Any, y: Any) -> Any: ...
    @staticmethod
    def ifft(x: Any, axes: Any = -1, norm: Any = ('backward',)) -> Any:
        r"""The inverse of fft."""
    @staticmethod
    def imag(z: Any) -> Any:
        r"""The imaginary part of z."""
    @staticmethod
    def inv(a: Any) -> Any:
        r"""The inverse of a. LinAlgError where a is singular."""
    @staticmethod
    def inverse_gaps(w: Any, d: Any, m: Any, sent: Any) -> Any:
        r"""1/(w_j − w_i) at [..., i, j], by which m = vᵀ d, with d for vectors v, is divided (see inverse_of)."""
    @staticmethod
    def inverse_values(s: Any, d: Any, m: Any, sent: Any) -> Any:
        r"""1/s as a row, by which m, the part of d beside all singular vectors, is divided (see inverse_of)."""
    @staticmethod
    def irfft(z: Any, n: Any, axis: Any = -1, norm: Any = ('backward',)) -> Any:
        r"""The n real numbers along axis, a negative one, whose rfft is z."""
    @staticmethod
    def isfinite(x: Any) -> Any: ...
    @staticmethod
    def isnan(x: Any) -> Any: ...
    @staticmethod
    def item(b: Any, i: Any) -> Any:
        r"""The i-th array of a bundle."""
    @staticmethod
    def lambertw(z: Any) -> Any:
        r"""w of w eʷ = z, the principal branch; of floats below −1/e it is NaN (Corless et al. 1996)."""
    @staticmethod
    def leakyRelu(x: Any, slope: Any = 0.01) -> Any:
        r"""x where positive, slope·x elsewhere, at 0 too."""
    @staticmethod
    def left_vectors(a: Any) -> Any:
        r"""The left singular vectors of a, as columns in the order of svdvals(a), with LAPACK's signs."""
    @staticmethod
    def less(x: Any, y: Any) -> Any: ...
    @staticmethod
    def less_equal(x: Any, y: Any) -> Any: ...
    @staticmethod
    def log(x: Any) -> Any: ...
    @staticmethod
    def log10(x: Any) -> Any: ...
    @staticmethod
    def log1p(x: Any) -> Any: ...
    @staticmethod
    def log2(x: Any) -> Any: ...
    @staticmethod
    def logNdtr(x: Any) -> Any:
        r"""log Φ(x), Φ the normal distribution function."""
    @staticmethod
    def logSigmoid(x: Any) -> Any:
        r"""log(1 / (1 + e⁻ˣ))."""
    @staticmethod
    def logSoftmax(x: Any, axis: Any = -1) -> Any:
        r"""log softmax(x), finite where softmax itself underflows."""
    @staticmethod
    def logabsdet(a: Any) -> Any:
        r"""log |det a|, without forming the determinant; −∞ where a is singular."""
    @staticmethod
    def logaddexp(x: Any, y: Any) -> Any: ...
    @staticmethod
    def logical_and(x: Any, y: Any) -> Any: ...
    @staticmethod
    def logical_not(x: Any) -> Any: ...
    @staticmethod
    def logical_or(x: Any, y: Any) -> Any: ...
    @staticmethod
    def logsumexp(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
        r"""log Σ exp(x) over axis; −∞ over no entries, and over −∞ alone."""
    @staticmethod
    def lower_half(x: Any) -> Any:
        r"""The lower triangle of x with half of the diagonal: Φ of Murray, Differentiation of … Cholesky, 2016."""
    @staticmethod
    def mT(x: Any) -> Any:
        r"""x with its last two axes exchanged: the transpose of each matrix of a batch."""
    @staticmethod
    def max(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
        r"""The greatest x over axis. Ties share the gradient equally. ValueError over no entries."""
    @staticmethod
    def maximum(x: Any, y: Any) -> Any: ...
    @staticmethod
    def mean(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
        r"""Σ x / n over axis; NaN over no entries. Over all entries unless axis says otherwise."""
    @staticmethod
    def min(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
        r"""The least x over axis. Ties share the gradient equally. ValueError over no entries."""
    @staticmethod
    def minimum(x: Any, y: Any) -> Any: ...
    @staticmethod
    def modulus(z: Any) -> Any:
        r"""|z|. At 0 its derivative is 0."""
    @staticmethod
    def mul(x: Any, y: Any) -> Any: ...
    @staticmethod
    def ndtri(x: Any) -> Any:
        r"""x of Φ(x) = p, Φ the normal distribution function."""
    @staticmethod
    def negative(x: Any) -> Any: ...
    @staticmethod
    def norm(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
        r"""√Σ x² over axis, the Euclidean norm; of a matrix the Frobenius norm. At 0 its gradient is 0."""
    @staticmethod
    def not_equal(x: Any, y: Any) -> Any: ...
    @staticmethod
    def oneHot(y: Any, like: Any) -> Any:
        r"""The target in the shape of predictions `like`: integer labels become rows of zeros with a single one."""
    @staticmethod
    def one_minus_square(x: Any) -> Any:
        r"""1 − x², with all its digits near ±1; its slope has all of them near 0."""
    @staticmethod
    def orthonormal(a: Any) -> Any:
        r"""Q of a = Q R, orthonormal and upper triangular, a (..., m, n) of rank n ≤ m, with LAPACK's signs."""
    @staticmethod
    def outer(a: Any, b: Any) -> Any:
        r"""a bᵀ of two vectors; arrays with more axes are flattened first."""
    @staticmethod
    def pad(x: Any, widths: Any) -> Any:
        r"""x with zeros around it: widths is an int, or for each axis a pair (before, after)."""
    @staticmethod
    def part(x: Any, i: Any, axis: Any, *arrays: Any) -> Any:
        r"""The part of x along axis that belongs to the i-th array, where x is as long as all arrays together."""
    @staticmethod
    def pinv(a: Any) -> Any:
        r"""The pseudo-inverse of a, whose rank has to stay what it is for a derivative."""
    @staticmethod
    def polygamma(n: Any, x: Any) -> Any:
        r"""The n-th derivative of digamma, n a literal (Abramowitz and Stegun 6.4.1)."""
    @staticmethod
    def power(x: Any, y: Any) -> Any: ...
    @staticmethod
    def prod(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
        r"""Π x over axis; 1 over no entries."""
    @staticmethod
    def prod_of_others(x: Any, axis: Any = None) -> Any:
        r"""For each entry of x the product of all others along axis; of floats a quotient if none is 0."""
    @staticmethod
    def ratio(x: Any, y: Any) -> Any:
        r"""x/y, but 0 wherever x is 0, even if y is 0, infinite or NaN."""
    @staticmethod
    def real(z: Any) -> Any:
        r"""The real part of z."""
    @staticmethod
    def reciprocal(x: Any) -> Any:
        r"""1 / x."""
    @staticmethod
    def recurrence(x: Any, a: Any, axis: Any) -> Any:
        r"""y of the recurrence y_i = x_i + a_i y_(i−1) along axis, which begins with 0."""
    @staticmethod
    def relu(x: Any) -> Any:
        r"""max(x, 0). At 0 the derivative is 0."""
    @staticmethod
    def remainder(x: Any, y: Any) -> Any: ...
    @staticmethod
    def reshape(x: Any, shape: Any) -> Any:
        r"""x in another shape: a tuple, in which one −1 is worked out, or an array that has it."""
    @staticmethod
    def rfft(x: Any, n: Any, axis: Any = -1, norm: Any = ('backward',)) -> Any:
        r"""The first n // 2 + 1 entries of fft of n real numbers along axis, a negative one."""
    @staticmethod
    def right_vectors(a: Any) -> Any:
        r"""The right singular vectors of a, as columns, signed as left_vectors(a): a = l diag(svdvals) rᵀ."""
    @staticmethod
    def roll(x: Any, shift: Any, axis: Any = None) -> Any:
        r"""x with its entries moved on by `shift` places along axis, those that fall off coming in again."""
    @staticmethod
    def round(x: Any, decimals: Any = 0) -> Any:
        r"""x rounded to so many decimals, halves to even."""
    @staticmethod
    def scale(x: Any, w: Any) -> Any:
        r"""x·w, but 0 wherever x is 0, even if w is infinite or NaN: a branch that is not taken sends back 0."""
    @staticmethod
    def scan(function: Any, carries: Any, slices: Any, args: Any, reverse: Any = False) -> Any:
        r"""The bundle of the last carries, and of the stacked results of all steps."""
    @staticmethod
    def scatterAdd(d: Any, like: Any, *keys: Any) -> Any:
        r"""Zeros of the shape and precision of like, with d added at [keys]; entries at one place are added up."""
    @staticmethod
    def share(x: Any, y: Any) -> Any:
        r"""1 where x > y, ½ where they are equal, and 0 elsewhere: the share of x in the maximum of the two."""
    @staticmethod
    def shift(x: Any, axis: Any, first: Any = 0.0) -> Any:
        r"""x moved by one place along axis, with `first` at the start."""
    @staticmethod
    def sigmoid(x: Any) -> Any:
        r"""1 / (1 + e⁻ˣ)."""
    @staticmethod
    def sigmoidCrossEntropy(z: Any, y: Any) -> Any:
        r"""−y log σ(z) − (1−y) log(1−σ(z)) from the logits z, entry by entry (Bishop, Deep Learning, §8.1.6)."""
    @staticmethod
    def sign(x: Any) -> Any: ...
    @staticmethod
    def signbit(x: Any) -> Any: ...
    @staticmethod
    def silu(x: Any) -> Any:
        r"""x · sigmoid(x) (Elfwing et al. 2018)."""
    @staticmethod
    def sin(x: Any) -> Any: ...
    @staticmethod
    def sinh(x: Any) -> Any: ...
    @staticmethod
    def softmax(x: Any, axis: Any = -1) -> Any:
        r"""exp(x) / Σ exp(x) over axis: probabilities (the notes §1.2, whose denominator sums e^a_i over i)."""
    @staticmethod
    def softmaxCrossEntropy(z: Any, y: Any) -> Any:
        r"""crossEntropy(softmax(z), y) from the logits z (..., k), without overflow: (n, k) gives (n, 1)."""
    @staticmethod
    def softplus(x: Any) -> Any:
        r"""log(1 + eˣ)."""
    @staticmethod
    def solve(a: Any, b: Any) -> Any:
        r"""x of a x = b; b is a vector or (..., n, k). LinAlgError where a is singular."""
    @staticmethod
    def sqrt(x: Any) -> Any: ...
    @staticmethod
    def sqrtm(a: Any) -> Any:
        r"""The principal square root of a matrix. ValueError if it is complex."""
    @staticmethod
    def square(x: Any) -> Any:
        r"""x²."""
    @staticmethod
    def squaredError(x: Any, v: Any) -> Any:
        r"""½ (x − v)², entry by entry (Reps, Automatic Differentiation and Backpropagation, §6)."""
    @staticmethod
    def squaredNorm(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
        r"""Σ x² over axis."""
    @staticmethod
    def squared_hypot(x: Any, y: Any) -> Any:
        r"""x² + y²."""
    @staticmethod
    def squared_modulus(z: Any) -> Any:
        r"""|z|²."""
    @staticmethod
    def stack(axis: Any, *arrays: Any) -> Any:
        r"""The arrays, of one shape, one after another along a new axis."""
    @staticmethod
    def std(x: Any, axis: Any = None, keepdims: Any = False, ddof: Any = 0) -> Any:
        r"""√var. Where it is 0 its gradient is 0."""
    @staticmethod
    def stopGradient(x: Any) -> Any:
        r"""x, for which no adjoint is sent further."""
    @staticmethod
    def subtract(x: Any, y: Any) -> Any: ...
    @staticmethod
    def sum(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
        r"""Σ x over axis; 0 over no entries."""
    @staticmethod
    def svdvals(a: Any) -> Any:
        r"""The singular values of a (..., m, n), the greatest first, as many as the lesser of m and n."""
    @staticmethod
    def sylvester(a: Any, b: Any, q: Any) -> Any:
        r"""The solution x of a x + x b = q."""
    @staticmethod
    def take(x: Any, indices: Any, axis: Any = None) -> Any:
        r"""x at indices along axis; of the flattened x for None."""
    @staticmethod
    def tan(x: Any) -> Any: ...
    @staticmethod
    def tanh(x: Any) -> Any: ...
    @staticmethod
    def ties(x: Any, out: Any, axis: Any = None) -> Any:
        r"""The share of each entry of x in the extreme value of its slice, out spread over x: 1 / ties, else 0."""
    @staticmethod
    def trace(x: Any) -> Any:
        r"""The sum of the diagonal of a matrix."""
    @staticmethod
    def transpose(x: Any, axes: Any = None) -> Any:
        r"""x with its axes in the order of `axes`, reversed for None."""
    @staticmethod
    def trunc(x: Any) -> Any: ...
    @staticmethod
    def unbroadcast(x: Any, like: Any, axis: Any = ()) -> Any:
        r"""x summed over `axis` and over whatever broadcasting added, to the shape and precision of like."""
    @staticmethod
    def unpad(x: Any, widths: Any) -> Any:
        r"""x without the rim that pad(x, widths) put around it."""
    @staticmethod
    def upper(a: Any) -> Any:
        r"""R of a = orthonormal(a) R."""
    @staticmethod
    def var(x: Any, axis: Any = None, keepdims: Any = False, ddof: Any = 0) -> Any:
        r"""Σ (x − mean)² / (n − ddof) over axis."""
    @staticmethod
    def where(c: Any, x: Any, y: Any) -> Any:
        r"""x where c holds, else y."""
    @staticmethod
    def while_loop(test: Any, function: Any, carries: Any, args: Any, most: Any = None) -> Any:
        r"""The bundle of the last carries and the number of steps, where a step follows as long as test holds."""
    @staticmethod
    def words(x: Any, vocabulary: Any) -> Any:
        r"""How often each word of vocabulary occurs in each string, in any case, along a new last axis."""
