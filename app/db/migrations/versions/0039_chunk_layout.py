"""Of which blocks the text of a chunk is made; nothing for those that were read before."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from loguru import logger

revision = "0039"
down_revision = "0038"


def upgrade() -> None:
    op.add_column("chunks", sa.Column("layout", sa.JSON(), nullable=True))
    documents = op.get_bind().scalar(sa.text("SELECT COUNT(DISTINCT document_id) FROM chunks"))
    if documents:
        logger.info("已入库的 {} 篇文档照常回答；运行任务 reread（重新读取文档），回答就按段落种类引用它们", documents)
