"""Models: each is an XMan subclass that reads like the notes."""
from ..errors import suggesting
from .bases import AdaptiveBasis
from .convolution import ConvolutionalNetwork
from .linear import LinearRegression, LogisticRegression, PoissonRegression
from .mlp import MLP
from .recurrent import GRU, LSTM, RNN
from .residual import ResidualMLP
from .transformer import Transformer
from .unsupervised import Autoencoder, GaussianMixture, MatrixFactorization, WordEmbeddings

__all__ = ["LinearRegression", "LogisticRegression", "PoissonRegression", "AdaptiveBasis"]
__all__ += ["MLP", "ResidualMLP", "ConvolutionalNetwork", "GRU", "LSTM", "RNN", "Transformer"]
__all__ += ["Autoencoder", "GaussianMixture", "MatrixFactorization", "WordEmbeddings"]
suggesting(__name__)
